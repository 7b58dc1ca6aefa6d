import { t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { Star } from 'lucide-react'
import { classNames } from '../../../ui/class-names.ts'
import { setFavorite } from './favorites.ts'
import styles from './star-button.module.css'

/** Marks a file as a favorite. By the keyboard and by touch, its menu does the same. */
export const StarButton = ({ file, className }: { file: FileRecord; className: string | undefined }) => {
  const isFavorite = file.favorite === true
  return (
    <button
      type="button"
      tabIndex={-1}
      className={classNames(styles['star'], className)}
      aria-pressed={isFavorite}
      aria-label={t`Favorite: ${file.name}`}
      title={isFavorite ? t`Remove from favorites` : t`Add to favorites`}
      onClick={(event) => {
        event.stopPropagation()
        void setFavorite([file], !isFavorite)
      }}
    >
      <Star aria-hidden="true" />
    </button>
  )
}
