-- Apps that a person has authorized by OAuth. Such an authorization is a row of api_keys, so that everything that ends or
-- limits a key applies to it: its hash is that of the current access token, and expires_at that of its expiry. All columns
-- are null for other keys.
alter table api_keys
  add app_client_id text,
  add app_redirect_uri text,
  -- The authorization code and its S256 challenge (RFC 7636).
  add app_code_hash bytea,
  add app_code_challenge text,
  -- Null until the code was exchanged. Every refresh token contains the secret of its family, which tells a token that was
  -- used before from one that was never issued.
  add app_family_hash bytea,
  add app_refresh_hash bytea,
  add app_refresh_expires_at timestamptz;
