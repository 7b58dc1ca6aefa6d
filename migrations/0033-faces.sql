-- What a turn is asked with by those who speak another protocol than ours.

alter table turns
  -- What the caller adds to the agent's own instructions, for this turn.
  add column instructions text,
  -- The most that each call of the model may say, when the caller wants less than the model could.
  add column max_output_tokens integer,
  -- A digest that finds the turn again for callers who know no id of ours: of the conversation that they sent, or of
  -- their own request.
  add column caller_digest bytea;

create index turns_by_caller_digest on turns (org_id, caller_digest) where caller_digest is not null;
