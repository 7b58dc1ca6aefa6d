-- webhook_queue_by_subject of 0073 replaces it.
drop index webhook_queue_by_order;
