-- Files of more than 2,147,483,647 bytes. The sizes were integers. Another type would rewrite tables of millions of rows
-- while they are locked, and servers of the previous version, which run beside this one during an update, could not read
-- it. So a size that is too large for an integer is in `large_bytes`, and `size_bytes` has the largest integer; other rows
-- have null there. A null column needs no rewrite, and no row has to be changed.
alter table files add column large_bytes bigint;
alter table file_versions add column large_bytes bigint;
alter table blobs add column large_bytes bigint;
alter table uploads add column large_bytes bigint;
-- How much of a large upload has arrived. `received_bytes` stays 0.
alter table uploads add column large_received bigint;

-- Servers of the previous version cannot set UPLOAD_MAX_BYTES above 2,147,483,647, but could get requests for a large file
-- of this version. These constraints make their changes of its bytes fail instead of leaving a wrong size. Not validated,
-- because no row has a large size yet.
alter table files add constraint files_large_check
  check (large_bytes is null or (size_bytes = 2147483647 and large_bytes > 2147483647)) not valid;
alter table file_versions add constraint file_versions_large_check
  check (large_bytes is null or (size_bytes = 2147483647 and large_bytes > 2147483647)) not valid;
alter table uploads add constraint uploads_large_check
  check (large_bytes is null or (size_bytes = 2147483647 and received_bytes = 0
    and large_received between 0 and large_bytes)) not valid;
