-- Responses of OpenAI's Responses API whose work the turn is, by the number of the step after which each begins:
-- { model, metadata, previousId, isBackground, isStored }. Null for turns that were started in another way.
alter table turns add column responses jsonb;
