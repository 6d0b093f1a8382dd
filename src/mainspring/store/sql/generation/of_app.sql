-- When each code hash of an app was first seen, as an order.
select code_hash, number from generation where app = :app
