-- A peer session belongs to two agents and to the person or the chat that they work for. Until now it belonged to the two
-- agents alone, so that one person's turns were shown what agents had written for somebody else.

-- Of a peer session that serves a chat of a provider: the session of that chat. Null when it serves a person.
alter table sessions add column peer_chat_id uuid;

-- The shared sessions are closed: without a key, no message continues them. They remain readable.
update sessions set peer_key = null where peer_key is not null;
