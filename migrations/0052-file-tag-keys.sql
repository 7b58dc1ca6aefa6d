-- The tags of a file, each behind the end of the org's id, for an index of tags (0053). An index has one list of rows for
-- each tag, so that without the org, a filter would read the rows of all orgs that use the tag.
create function file_tag_keys(org uuid, tags text[]) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(right(org::text, 12) || tag), '{}') from unnest(tags) as tag
$$;
