import { useQuery } from '@tanstack/react-query'
import { Play, ReceiptText, RotateCcw } from 'lucide-react'
import { read } from '../../api.ts'
import { formatMicrocents, formatNumber } from '../../format.ts'
import { Button } from '../../ui/forms/button.tsx'
import message from './message.module.css'
import { durationOf, stopReasons } from './receipt.tsx'

export interface TurnFooterProps {
  turnId: string
  /** Only the last one says how it ended and can be gone on with; all have their receipt. */
  isLast: boolean
  /** The answer tells already what went wrong. */
  saysWhy: boolean
  onReceipt: () => void
  onContinue: () => void
  onRetry: () => void
}

/** Below an answer: how it ended, what it cost, and how to go on. */
export const TurnFooter = ({ turnId, isLast, saysWhy, onReceipt, onContinue, onRetry }: TurnFooterProps) => {
  const { data: turn } = useQuery({ ...read('GET /turns/:id', { params: { id: turnId } }), enabled: isLast })
  const receipt = (
    <Button small variant="quiet" icon={<ReceiptText />} onClick={onReceipt}>
      Receipt
    </Button>
  )
  if (!turn || turn.endedAt === null) return receipt
  const facts = [
    durationOf(turn.startedAt, turn.endedAt),
    `${formatNumber(turn.usage.totalTokens)} tokens`,
    turn.chargedMicrocents > 0 ? formatMicrocents(turn.chargedMicrocents) : 'free',
  ]
  const why = turn.stopReason === null ? undefined : stopReasons[turn.stopReason]
  const mayContinue = turn.status === 'incomplete' || turn.status === 'cancelled'
  return (
    <>
      {receipt}
      <span className={message['faint']}>{facts.filter(Boolean).join(' · ')}</span>
      {why !== undefined && <span className={message['why']}>{why}</span>}
      {mayContinue && (
        <Button small icon={<Play />} onClick={onContinue}>
          Continue
        </Button>
      )}
      {turn.status === 'failed' && (
        <>
          {!saysWhy && <span className={message['why']}>{turn.error?.message ?? 'It failed.'}</span>}
          <Button small icon={<RotateCcw />} onClick={onRetry}>
            Try again
          </Button>
        </>
      )}
    </>
  )
}
