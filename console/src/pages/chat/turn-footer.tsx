import { apiText } from '../../i18n/language.ts'
import { textOf } from '../../i18n/text.ts'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Play, ReceiptText, RotateCcw } from 'lucide-react'
import { read } from '../../api.ts'
import { formatMicrocents, formatNumber } from '../../format.ts'
import { Button } from '../../ui/forms/button.tsx'
import message from './message.module.css'
import { durationOf, stopReasons } from './receipt.tsx'

export interface TurnFooterProps {
  turnId: string
  /** Only the last turn shows its outcome and can be continued; every turn has a receipt. */
  isLast: boolean
  /** The response already contains the error message. */
  hasErrorPart: boolean
  onReceipt: () => void
  onContinue: () => void
  onRetry: () => void
  /** Whether the response called tools that may have changed something. */
  hasEffects?: boolean
}

/** Below a response: duration, tokens, cost, outcome, and buttons to continue or retry. */
export const TurnFooter = ({
  turnId,
  isLast,
  hasErrorPart,
  onReceipt,
  onContinue,
  onRetry,
  hasEffects,
}: TurnFooterProps) => {
  const { data: turn } = useQuery({ ...read('GET /turns/:id', { params: { id: turnId } }), enabled: isLast })
  const receipt = (
    <Button small variant="quiet" icon={<ReceiptText />} onClick={onReceipt}>
      <Trans>Receipt</Trans>
    </Button>
  )
  if (!turn || turn.endedAt === null) return receipt
  const totals = [
    durationOf(turn.startedAt, turn.endedAt),
    t`${formatNumber(turn.usage.totalTokens)} tokens`,
    turn.chargedMicrocents > 0 ? formatMicrocents(turn.chargedMicrocents) : t`Free`,
  ]
  const why = turn.stopReason === null ? undefined : stopReasons[turn.stopReason]
  const mayContinue = turn.status === 'incomplete' || turn.status === 'cancelled'
  return (
    <>
      {receipt}
      <span className={message['faint']}>{totals.filter(Boolean).join(' · ')}</span>
      {why !== undefined && <span className={message['why']}>{textOf(why)}</span>}
      {mayContinue && (
        <Button small icon={<Play />} onClick={onContinue}>
          <Trans>Continue</Trans>
        </Button>
      )}
      {turn.status === 'failed' && (
        <>
          {!hasErrorPart && (
            <span className={message['why']}>{turn.error ? apiText(turn.error.message) : t`The turn failed.`}</span>
          )}
          <Button small icon={<RotateCcw />} onClick={onRetry}>
            <Trans>Try again</Trans>
          </Button>
          {hasEffects === true && (
            <span className={message['effects']}>
              <Trans>What tools have changed is not undone, and they may change it again.</Trans>
            </span>
          )}
        </>
      )}
    </>
  )
}
