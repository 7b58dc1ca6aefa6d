import { CommandPalette } from './command-palette.tsx'
import { ScopeDialog } from './scope-dialog.tsx'
import { ShortcutSheet } from './shortcut-sheet.tsx'

export type Overlay = 'palette' | 'shortcuts'

/** What opens above every page. No page needs it at its start, so it is loaded with the first input. */
export const Overlays = ({
  open,
  onOpen,
}: {
  open: Overlay | undefined
  onOpen: (overlay: Overlay | undefined) => void
}) => (
  <>
    <ScopeDialog />
    <CommandPalette
      open={open === 'palette'}
      onClose={() => onOpen(undefined)}
      onShortcuts={() => onOpen('shortcuts')}
    />
    <ShortcutSheet open={open === 'shortcuts'} onClose={() => onOpen(undefined)} />
  </>
)
