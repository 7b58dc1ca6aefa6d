import type { FastifyRequest } from 'fastify'
import type { Model, ModelCatalog } from '../../agents/agents.ts'
import {
  ceilDiv,
  chargeStandaloneCall,
  findProviderKey,
  openProviderKey,
  releaseStandaloneCall,
  reserveStandaloneCall,
} from '../../billing/billing.ts'
import type { Billing, StandaloneCall } from '../../billing/billing.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Database } from '../../platform/database/database.ts'
import { badRequest, serviceUnavailable, tooManyRequests, validationError } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { newId } from '../../platform/ids.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import type { Log } from '../../platform/process/log.ts'
import { ModelFailure } from '../models/model-client.ts'
import { estimateTokens } from '../runtime/prompt/prompt.ts'
import { callTimeoutMs } from './embedding-client.ts'
import type { EmbeddingCall, EmbeddingClient } from './embedding-client.ts'
import type { VectorFormat } from './protocol.ts'
import type { EmbeddingCreate } from './schemas.ts'

export interface EmbeddingDeps {
  db: Database
  log: Log
  models: ModelCatalog
  billing: Billing
  secrets: Sealer
  client: EmbeddingClient
}

/** Of the response that a repeated request with the same Idempotency-Key gets. */
export const maxStoredBytes = 1_000_000

/** A response of 1,024 vectors with 3,072 numbers each uses about 60 MB of memory while it is sent. */
const callsAtOnce = 8
const callsOfOrgAtOnce = 2

/** Longer than a call can last. */
const reservationSeconds = (2 * callTimeoutMs) / 1_000

/** Tokens that a model may count for each text besides those of its bytes. */
const extraTokensPerText = 16

export interface Embeddings {
  model: string
  dimensions: number
  /** The vectors as JSON, in the format that was asked for. */
  json: Uint8Array
  inputTokens: number
  /** The tokens were counted from the text, because the provider reported none or an impossible number. */
  isEstimate: boolean
  chargedMicrocents: number
}

type PricedModel = Model & { pricing: NonNullable<Model['pricing']> }

const usableModel = (models: ModelCatalog, id: string): PricedModel => {
  const model = models.find(id)
  if (!model?.capabilities.embeddings) {
    throw badRequest('model must be the id of an embedding model from GET /api/v1/models')
  }
  const { pricing } = model
  if (!model.available || pricing === null) {
    throw validationError(`The model ${id} is not available: ${model.unavailableReason}`)
  }
  return { ...model, pricing }
}

const toApiError = (failure: ModelFailure): ApiError => {
  const { message, retryAfterMs, code } = failure
  const headers = { 'retry-after': String(Math.max(1, Math.ceil((retryAfterMs ?? 1_000) / 1_000))) }
  if (code === 'rejected') return validationError(message, { cause: failure })
  if (code === 'rate_limited') return tooManyRequests(message, { cause: failure, headers })
  return serviceUnavailable(message, { cause: failure, headers })
}

/** No model counts more tokens than the text has bytes, apart from a few for each text. */
const countTokens = (input: string[], reported: number | undefined): Pick<Embeddings, 'inputTokens' | 'isEstimate'> => {
  const bytes = input.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const isPossible =
    reported !== undefined &&
    Number.isSafeInteger(reported) &&
    reported >= 0 &&
    reported <= bytes + extraTokensPerText * input.length
  return isPossible
    ? { inputTokens: reported, isEstimate: false }
    : { inputTokens: estimateTokens(input), isEstimate: true }
}

/** Calls embedding models and charges the calls. */
export interface Embedder {
  /**
   * `request` names the caller and its transaction for the charge. Throws BAD_REQUEST for another model,
   * VALIDATION_ERROR when the provider rejects the texts, PAYMENT_REQUIRED, TOO_MANY_REQUESTS and SERVICE_UNAVAILABLE.
   */
  embed(
    request: Pick<FastifyRequest, 'actor' | 'db'>,
    create: EmbeddingCreate,
    format: VectorFormat,
  ): Promise<Embeddings>
}

export const createEmbedder = ({ db, log, models, billing, secrets, client }: EmbeddingDeps): Embedder => {
  const queue = createFairQueue({
    running: callsAtOnce,
    runningPerGroup: callsOfOrgAtOnce,
    waiting: 64,
    waitingPerGroup: 16,
    waitingPerMember: 8,
    busy: () =>
      tooManyRequests('Too many embeddings of the org are being made. Try again shortly.', {
        headers: { 'retry-after': '1' },
      }),
  })

  const planCall = async ({ orgId }: Actor, model: PricedModel): Promise<[StandaloneCall, string | undefined]> => {
    const { fee } = billing.config
    const keyId = await findProviderKey(db.hot, billing.config, orgId, model.provider)
    const apiKey = keyId === null ? undefined : await openProviderKey(db, secrets, orgId, keyId)
    const isByok = apiKey !== undefined
    return [{ id: newId(), orgId, model: model.id, operation: 'embedding', rates: model.pricing, fee, isByok }, apiKey]
  }

  const run = async (
    request: Pick<FastifyRequest, 'actor' | 'db'>,
    model: PricedModel,
    asked: Pick<EmbeddingCall, 'input' | 'dimensions' | 'format'>,
  ): Promise<Embeddings> => {
    const { input } = asked
    const { orgId } = request.actor
    const [call, apiKey] = await planCall(request.actor, model)
    const reserved = { inputTokens: estimateTokens(input), seconds: reservationSeconds }
    await reserveStandaloneCall(db, billing.config.isEnforced, call, reserved)
    try {
      const {
        json,
        dimensions,
        inputTokens: reported,
      } = await client.embed({
        ...asked,
        modelId: model.id,
        orgId,
        apiKey,
      })
      const tokens = countTokens(input, reported)
      const providerCostMicrocents = ceilDiv(BigInt(tokens.inputTokens) * BigInt(model.pricing.input), 1_000_000n)
      const charged = await request.db.transaction({ orgId }, (db) =>
        chargeStandaloneCall(db, call, { ...tokens, providerCostMicrocents }),
      )
      if (charged > 0n) billing.chargePoster.postSoon(orgId)
      return { model: model.id, dimensions, json, ...tokens, chargedMicrocents: Number(charged) }
    } catch (error) {
      await releaseStandaloneCall(db, call).catch((failure: unknown) =>
        log.warn({ err: failure, orgId }, 'a reservation could not be released and expires by itself'),
      )
      throw error instanceof ModelFailure ? toApiError(error) : error
    }
  }

  return {
    embed: (request, { model: id, input, dimensions }, format) => {
      const model = usableModel(models, id)
      const asked = { input: typeof input === 'string' ? [input] : input, dimensions, format }
      return queue.run(() => run(request, model, asked), {
        group: request.actor.orgId,
        member: request.actor.userId,
      })
    },
  }
}
