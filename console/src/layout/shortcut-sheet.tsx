import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { Dialog } from '../ui/dialog.tsx'
import { KeyboardShortcut } from '../ui/keyboard-shortcut.tsx'
import { navigationItems, settings } from './navigation.ts'
import styles from './shortcut-sheet.module.css'

interface Shortcut {
  /** Alternatives, each in the notation of KeyboardShortcut. */
  keys: string[]
  action: MessageDescriptor
}

const groups: { title: MessageDescriptor; shortcuts: Shortcut[] }[] = [
  {
    title: msg`Everywhere`,
    shortcuts: [
      { keys: ['mod+K'], action: msg`Search and commands` },
      { keys: ['?'], action: msg`Keyboard shortcuts` },
      { keys: ['Esc'], action: msg`Close a dialog or menu` },
    ],
  },
  {
    title: msg`Go to`,
    shortcuts: [...navigationItems, settings].map(({ letter, label }) => ({
      keys: [`G+${letter.toUpperCase()}`],
      action: label,
    })),
  },
  {
    title: msg`List of files`,
    shortcuts: [
      { keys: ['↑', '↓'], action: msg`Select the previous or next row` },
      { keys: ['Shift+↑', 'Shift+↓'], action: msg`Extend the selection` },
      { keys: ['Space'], action: msg`Add or remove a row` },
      { keys: ['mod+A'], action: msg`Select all` },
      { keys: ['Esc'], action: msg`Clear the selection` },
      { keys: ['Enter'], action: msg`Open` },
      { keys: ['F2'], action: msg`Rename` },
      { keys: ['Del'], action: msg`Delete` },
      { keys: ['Shift+F10'], action: msg`Open the menu` },
      { keys: ['Backspace'], action: msg`Open the parent folder` },
    ],
  },
  {
    title: msg`Preview of a file`,
    shortcuts: [{ keys: ['←', '→'], action: msg`Previous or next file` }],
  },
  {
    title: msg`Chat`,
    shortcuts: [
      { keys: ['Enter'], action: msg`Send` },
      { keys: ['Shift+Enter'], action: msg`New line` },
      { keys: ['Esc'], action: msg`Stop the response or cancel editing` },
      { keys: ['↑'], action: msg`Edit your last message, if the field is empty` },
      { keys: ['/'], action: msg`Search conversations` },
      { keys: ['↑', '↓'], action: msg`Previous or next conversation in the list` },
    ],
  },
]

/** The keyboard shortcuts of the console. */
export const ShortcutSheet = ({ open, onClose }: { open: boolean; onClose: () => void }) => {
  const { t } = useLingui()
  return (
    <Dialog open={open} wide onClose={onClose} title={t`Keyboard shortcuts`}>
      <div className={styles['groups']} role="group" aria-label={t`Keyboard shortcuts`} tabIndex={0}>
        {groups.map(({ title, shortcuts }) => (
          <section key={title.id} className={styles['group']}>
            <h3>{t(title)}</h3>
            <dl>
              {shortcuts.map(({ keys, action }) => (
                <div key={action.id} className={styles['row']}>
                  <dt>{t(action)}</dt>
                  <dd>
                    {keys.map((one) => (
                      <KeyboardShortcut key={one} keys={one} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
