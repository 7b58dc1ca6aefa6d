import { useLingui } from '@lingui/react/macro'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { copyText } from '../../clipboard.ts'
import { IconButton } from './button.tsx'

export const useCopy = (text: string): { copied: boolean; copy: () => void } => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1_600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    copyText(text).then(
      () => setCopied(true),
      // The text can still be selected and copied by hand.
      () => setCopied(false),
    )
  }
  return { copied, copy }
}

export const CopyButton = ({ text, label }: { text: string; label?: string }) => {
  const { t } = useLingui()
  const { copied, copy } = useCopy(text)
  return (
    <IconButton
      small
      label={copied ? t`Copied` : (label ?? t`Copy`)}
      icon={copied ? <Check /> : <Copy />}
      onClick={copy}
    />
  )
}
