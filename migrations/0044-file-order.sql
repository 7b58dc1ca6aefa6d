-- Lists of files by size, type and time of the last change. Each index stores its order without the folders or with
-- them, as lists show them, so that a page costs the same in a folder of ten files and of a million. By name, and for
-- folders by size and type, lists use files_listing.

create index files_by_size on files (org_id, container_id, size_bytes, id) where deleted_at is null and listing_rank = 1;
-- Compared byte by byte, like the names.
create index files_by_type on files (org_id, container_id, mime_type collate "C", name_key, id)
  where deleted_at is null and listing_rank = 1;
create index files_by_change on files (org_id, container_id, listing_rank, updated_at, id) where deleted_at is null;
