import { defineSealedColumn } from '../../platform/encryption/reencrypt.ts'

export const endpointSecretColumn = defineSealedColumn('connector_endpoints', 'secret')
export const replyToColumn = defineSealedColumn('connector_events', 'reply_to', {
  idColumns: ['endpoint_id', 'external_id'],
})
