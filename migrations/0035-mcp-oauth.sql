-- The OAuth client of a flow whose authorization server was discovered, such as that of an MCP server. Sealed. Null: the
-- operator configured the client.
alter table oauth_states add column client text;
