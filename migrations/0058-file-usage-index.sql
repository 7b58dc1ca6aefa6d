-- The storage of a folder by what is below it: the sizes of files are in files_by_size, those of versions are here. Most
-- files have no versions and are not in it.

create index files_with_versions on files (org_id, container_id, versions_bytes)
  where deleted_at is null and versions_bytes > 0;
