import { t } from '@lingui/core/macro'
import type { Pricing } from '@atrium/client'
import { formatMicrocents, formatNumber } from './format.ts'

/** What the prices of models contain, wherever they are shown. */
export const priceNote = ({ waived, bps }: Pricing['platformFee']): string =>
  waived ? t`without platform fee (waived)` : t`including the platform fee of ${formatNumber(bps / 100)} %`

/** The price that the org pays for a model now; undefined when it has none. */
export const priceText = ({ models, platformFee }: Pricing, modelId: string): string | undefined => {
  const model = models.find(({ id }) => id === modelId)
  if (model === undefined) return undefined
  const { inputMicrocents, outputMicrocents } = model.withFee
  const rates = t`${formatMicrocents(inputMicrocents)} input and ${formatMicrocents(outputMicrocents)} output`
  return t`${rates} per million tokens, ${priceNote(platformFee)}.`
}
