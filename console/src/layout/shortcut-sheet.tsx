import { Dialog } from '../ui/dialog.tsx'
import { KeyboardShortcut } from '../ui/keyboard-shortcut.tsx'
import { navigationItems, settings } from './navigation.ts'
import styles from './shortcut-sheet.module.css'

interface Shortcut {
  /** Alternatives, each in the notation of KeyboardShortcut. */
  keys: string[]
  action: string
}

const groups: { title: string; shortcuts: Shortcut[] }[] = [
  {
    title: 'Everywhere',
    shortcuts: [
      { keys: ['mod+K'], action: 'Search and commands' },
      { keys: ['?'], action: 'Keyboard shortcuts' },
      { keys: ['Esc'], action: 'Close a dialog or menu' },
    ],
  },
  {
    title: 'Go to',
    shortcuts: [...navigationItems, settings].map(({ letter, label }) => ({
      keys: [`G+${letter.toUpperCase()}`],
      action: label,
    })),
  },
  {
    title: 'List of files',
    shortcuts: [
      { keys: ['↑', '↓'], action: 'Select the previous or next row' },
      { keys: ['Shift+↑', 'Shift+↓'], action: 'Extend the selection' },
      { keys: ['Space'], action: 'Add or remove a row' },
      { keys: ['mod+A'], action: 'Select all' },
      { keys: ['Esc'], action: 'Clear the selection' },
      { keys: ['Enter'], action: 'Open' },
      { keys: ['F2'], action: 'Rename' },
      { keys: ['Del'], action: 'Delete' },
      { keys: ['Shift+F10'], action: 'Open the menu' },
      { keys: ['Backspace'], action: 'Open the parent folder' },
    ],
  },
  {
    title: 'Preview of a file',
    shortcuts: [{ keys: ['←', '→'], action: 'Previous or next file' }],
  },
  {
    title: 'Chat',
    shortcuts: [
      { keys: ['Enter'], action: 'Send' },
      { keys: ['Shift+Enter'], action: 'New line' },
      { keys: ['Esc'], action: 'Stop the response' },
    ],
  },
]

/** The keyboard shortcuts of the console. */
export const ShortcutSheet = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog open={open} wide onClose={onClose} title="Keyboard shortcuts">
    <div className={styles['groups']} role="group" aria-label="Keyboard shortcuts" tabIndex={0}>
      {groups.map(({ title, shortcuts }) => (
        <section key={title} className={styles['group']}>
          <h3>{title}</h3>
          <dl>
            {shortcuts.map(({ keys, action }) => (
              <div key={action} className={styles['row']}>
                <dt>{action}</dt>
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
