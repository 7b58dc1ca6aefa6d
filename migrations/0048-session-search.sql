-- Search of conversations, and where each came from. Its indexes: 0063.

-- How the session was created: console, api, openai, mcp, a2a, chat or agent. Null for sessions of earlier versions and of
-- servers of the previous version, which run beside this one during an update.
alter table sessions add column source text;

-- The words of a message, as search_words makes them. Null for messages of earlier versions, for which the index computes
-- them. A search that reads many messages does not compute the words of each again, which took milliseconds.
alter table messages add column words tsvector;

-- The text of a message for search: its first 20,000 characters, without reasoning and tool calls.
create function message_text(parts jsonb) returns text language sql immutable parallel safe as $$
  select left(string_agg(left(part ->> 'text', 20000), E'\n' order by place), 20000)
  from jsonb_array_elements(case jsonb_typeof(parts) when 'array' then parts else '[]' end)
    with ordinality as one (part, place)
  where part ->> 'type' = 'text'
$$;

-- The words of a text in lower case, each behind the end of the org's id. An index has one list of rows for each word, so
-- that without the org, a search would read the rows of all orgs that contain the word. What separates words here also
-- separates those of a query, see search/words.ts.
create function search_words(org uuid, body text) returns tsvector language sql immutable parallel safe as $$
  select array_to_tsvector(coalesce(array_agg(right(org::text, 12) || left(word, 64)), '{}'))
  from string_to_table(
    translate(lower(body), E' \t\n\r!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~„“”‘’«»–—…·•', rpad('', 48, ' ')), ' ') as word
  where word <> ''
$$;
