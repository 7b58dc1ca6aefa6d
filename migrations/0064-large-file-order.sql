-- The order of files by size, as 0044 has it, with large sizes. The two columns are included, because PostgreSQL reads only
-- an index that has all columns of its expression.

create index files_by_bytes on files (org_id, container_id, (coalesce(large_bytes, size_bytes)), id)
  include (size_bytes, large_bytes) where deleted_at is null and listing_rank = 1;
