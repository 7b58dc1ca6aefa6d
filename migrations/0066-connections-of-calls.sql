-- The connection that a tool call was planned for. Null for tools without one, and for calls of servers before this column.
alter table tool_calls add column connection_id uuid;
