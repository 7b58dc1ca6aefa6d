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

export const CopyButton = ({ text, label = 'Copy' }: { text: string; label?: string }) => {
  const { copied, copy } = useCopy(text)
  return <IconButton small label={copied ? 'Copied' : label} icon={copied ? <Check /> : <Copy />} onClick={copy} />
}
