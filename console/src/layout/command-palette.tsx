import { Trans, useLingui } from '@lingui/react/macro'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { Bot, CornerDownLeft, File as FileIcon, Folder, Keyboard, Moon, Plus, Search, Sun } from 'lucide-react'
import { useId, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { read } from '../api.ts'
import { useIdentity } from '../session.tsx'
import { setTheme } from '../theme.ts'
import { isComposing } from '../ui/forms/composing.ts'
import { KeyboardShortcut } from '../ui/keyboard-shortcut.tsx'
import styles from './command-palette.module.css'
import { createCommands, navigationItems, paletteItems, settings } from './navigation.ts'

interface Command {
  id: string
  group: string
  label: string
  icon: ReactNode
  keywords?: string
  shortcut?: string
  run: () => void
}

/** 0: the label starts with the query; 1: the label contains it; 2: the keywords contain it; undefined: no match. */
const rankOf = ({ label, keywords = '' }: Command, words: string[]): number | undefined => {
  const name = label.toLowerCase()
  const text = `${name} ${keywords}`
  if (!words.every((word) => text.includes(word))) return undefined
  if (name.startsWith(words[0] ?? '')) return 0
  return words.every((word) => name.includes(word)) ? 1 : 2
}

const bestFirst = (commands: Command[], words: string[]): Command[] =>
  commands
    .map((command) => ({ command, rank: rankOf(command, words) }))
    .filter((one): one is { command: Command; rank: number } => one.rank !== undefined)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ command }) => command)

const useAgents = (words: string[], go: (to: string) => () => void): Command[] => {
  const { t } = useLingui()
  const { can, me } = useIdentity()
  const isSearching = words.length > 0 && can('agents:read') && me.workspace !== null
  const agents = useQuery({ ...read('GET /agents'), enabled: isSearching })
  const known = (isSearching ? (agents.data?.items ?? []) : []).map(({ id, name, slug }) => ({
    id,
    group: t`Agents`,
    label: name,
    icon: <Bot />,
    keywords: slug,
    run: go(`/agents/${slug}`),
  }))
  return bestFirst(known, words).slice(0, 6)
}

const useCommands = (text: string, onShortcuts: () => void): Command[] => {
  const { t } = useLingui()
  const navigate = useNavigate()
  const { can } = useIdentity()
  const go = (to: string) => () => void navigate(to)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const isSearching = text.trim().length >= 2 && can('files:read')
  const found = useQuery({
    ...read('GET /files', { query: { search: text.trim().slice(0, 255), recursive: true, limit: 8 } }),
    enabled: isSearching,
  })
  const pages: Command[] = [...navigationItems, settings].map(({ to, label, icon: Icon, keywords, letter }) => ({
    id: to,
    group: t`Go to`,
    label: t(label),
    icon: <Icon />,
    keywords: keywords ? t(keywords) : '',
    shortcut: `G+${letter.toUpperCase()}`,
    run: go(to),
  }))
  const parts: Command[] = paletteItems.map(({ to, label, keywords }) => ({
    id: to,
    group: t`Go to`,
    label: t(label),
    icon: <settings.icon />,
    keywords: keywords ? t(keywords) : '',
    run: go(to),
  }))
  const themes: Command[] = (['light', 'dark'] as const).map((theme) => ({
    id: `theme-${theme}`,
    group: t`Actions`,
    label: theme === 'light' ? t`Use light theme` : t`Use dark theme`,
    icon: theme === 'light' ? <Sun /> : <Moon />,
    keywords: t`colors mode appearance`,
    run: () => setTheme(theme),
  }))
  const create: Command[] = createCommands.map(({ to, label, keywords }) => ({
    id: `create-${to}`,
    group: t`Actions`,
    label: t(label),
    icon: <Plus />,
    keywords: keywords ? t(keywords) : '',
    run: go(to),
  }))
  const help: Command = {
    id: 'shortcuts',
    group: t`Actions`,
    label: t`Keyboard shortcuts`,
    icon: <Keyboard />,
    keywords: t`help keys hotkeys`,
    shortcut: '?',
    run: onShortcuts,
  }
  const agents = useAgents(words, go)
  const commands = [
    ...bestFirst([...pages, ...(words.length > 0 ? parts : [])], words),
    ...bestFirst(words.length > 0 ? [...create, ...themes, help] : [], words),
  ]
  const files: Command[] = (isSearching ? (found.data?.items ?? []) : []).map(({ id, name, source, parentId }) => ({
    id,
    group: t`Files`,
    label: name,
    icon: source === 'folder' ? <Folder /> : <FileIcon />,
    run: go(source === 'folder' ? `/files/${id}` : `/files${parentId === null ? '' : `/${parentId}`}?open=${id}`),
  }))
  return [...commands, ...agents, ...files]
}

const Content = ({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) => {
  const { t } = useLingui()
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  // Not deferred: Enter must run the command that matches what was typed last.
  const commands = useCommands(text, onShortcuts)
  const chosen = Math.min(active, commands.length - 1)
  const run = (command: Command | undefined): void => {
    if (!command) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && commands.length > 0) {
      event.preventDefault()
      const next = (chosen + step + commands.length) % commands.length
      setActive(next)
      document.querySelector(`#${CSS.escape(`${listId}-${next}`)}`)?.scrollIntoView({ block: 'nearest' })
    }
    if (event.key === 'Enter' && !isComposing(event)) {
      event.preventDefault()
      run(commands[chosen])
    }
  }
  return (
    <>
      <div className={styles['field']}>
        <Search aria-hidden="true" />
        <input
          className={styles['input']}
          role="combobox"
          aria-label={t`Search and commands`}
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={commands.length > 0 ? `${listId}-${chosen}` : undefined}
          placeholder={t`Search files, agents, pages and commands`}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={listId} role="listbox" aria-label={t`Results`} className={styles['list']}>
        {commands.map((command, index) => (
          <div key={command.id} role="presentation">
            {commands[index - 1]?.group !== command.group && <div className={styles['group']}>{command.group}</div>}
            <div
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === chosen}
              className={styles['option']}
              onPointerMove={() => setActive(index)}
              onClick={() => run(command)}
            >
              {command.icon}
              <span>{command.label}</span>
              {command.shortcut !== undefined && <KeyboardShortcut keys={command.shortcut} />}
              {index === chosen && <CornerDownLeft aria-hidden="true" />}
            </div>
          </div>
        ))}
      </div>
      {commands.length === 0 && (
        <p className={styles['none']} role="status">
          <Trans>No results for “{text}”.</Trans>
        </p>
      )}
    </>
  )
}

/** Finds pages, commands, agents and files by a few letters (Ctrl/⌘ K). */
export const CommandPalette = ({
  open,
  onClose,
  onShortcuts,
}: {
  open: boolean
  onClose: () => void
  onShortcuts: () => void
}) => {
  const { t } = useLingui()
  // A new key for each opening, so that the field is empty even when the previous dialog is still fading out.
  const [last, setLast] = useState({ open, count: 0 })
  if (last.open !== open) setLast({ open, count: last.count + (open ? 1 : 0) })
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup className={styles['popup']} aria-label={t`Search and commands`}>
          <Content key={last.count} onClose={onClose} onShortcuts={onShortcuts} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
