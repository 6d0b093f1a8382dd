-- A webhook has read on, unless another process has read on for it, or somebody has changed where it is.
update webhook set cursor = :cursor where id = :webhook and cursor = :before and paused is null and removed is null returning id
