-- Replaces webhook_queue_by_order, which begins with org_id as the primary key does: while each org had few deliveries, the
-- planner preferred the primary key, and read all deliveries of the org to find the next one of a subject.
create index webhook_queue_by_subject on webhook_queue (order_key, order_number) where order_key is not null;
