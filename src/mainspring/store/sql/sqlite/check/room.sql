-- Pages in use and pages that only "vacuum" gives back.
select 'pages' as what, page_count - freelist_count as live, freelist_count as dead from pragma_page_count, pragma_freelist_count
