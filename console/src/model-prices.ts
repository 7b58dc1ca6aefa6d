import type { Pricing } from '@atrium/client'
import { formatMicrocents } from './format.ts'

/** What the prices of models contain, wherever they are shown. */
export const priceNote = ({ waived, bps }: Pricing['platformFee']): string =>
  waived ? 'without platform fee (waived)' : `including the platform fee of ${bps / 100} %`

/** The price that the org pays for a model now; undefined when it has none. */
export const priceText = ({ models, platformFee }: Pricing, modelId: string): string | undefined => {
  const model = models.find(({ id }) => id === modelId)
  if (model === undefined) return undefined
  const { inputMicrocents, outputMicrocents } = model.withFee
  const rates = `${formatMicrocents(inputMicrocents)} input and ${formatMicrocents(outputMicrocents)} output`
  return `${rates} per million tokens, ${priceNote(platformFee)}.`
}
