// The texts of the pages of visitors.
import type { Language } from '../../platform/text/languages.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { formatBytes } from '../../quotas/quotas.ts'
import { archiveLimits } from '../archive/limits.ts'

/** Why a visitor may not do something, as the cause of the error. */
export class Rejection extends Error {
  readonly reason: keyof Texts['rejections']

  constructor(reason: keyof Texts['rejections']) {
    super(reason)
    this.name = 'Rejection'
    this.reason = reason
  }
}

export interface Texts {
  shared: string
  passwordRequired: string
  enterPassword: string
  wrongPassword: string
  password: string
  next: string
  download: string
  /** Of a folder. */
  downloadAll: string
  downloadsReached: string
  noPreview: string
  content: string
  allFiles: string
  folder: string
  emptyFolder: string
  previousPage: string
  nextPage: string
  uploadFile: string
  uploadTo(org: string): string
  atMost(size: string): string
  types(list: string): string
  uploaded: string
  file: string
  upload: string
  gone: string
  askForNew: string
  titles: Partial<Record<ApiError['code'], string>>
  /** The title for a form that is not accepted. */
  notAccepted: string
  notPossible: string
  /** In place of messages of the API, which are English. */
  rejections: Record<
    | 'downloads'
    | 'downloadLimit'
    | 'uploads'
    | 'uploadLimit'
    | 'runningUploads'
    | 'type'
    | 'size'
    | 'attempts'
    | 'tooMany'
    | 'busy'
    | 'archiveSize'
    | 'archivesOfAddress'
    | 'archivesOfShare'
    | 'archivesOfOrg'
    | 'other',
    string
  >
}

const english: Texts = {
  shared: 'Shared with Atrium',
  passwordRequired: 'Password required',
  enterPassword: 'Enter the password that you received with this link.',
  wrongPassword: 'The password is wrong.',
  password: 'Password',
  next: 'Continue',
  download: 'Download',
  downloadAll: 'Download all',
  downloadsReached: 'The download limit of this link is reached.',
  noPreview: 'This file has no preview.',
  content: 'Content',
  allFiles: 'All files',
  folder: 'Folder',
  emptyFolder: 'This folder is empty.',
  previousPage: 'Previous page',
  nextPage: 'Next page',
  uploadFile: 'Upload a file',
  uploadTo: (org) => `Your file is sent to ${org}.`,
  atMost: (size) => `At most ${size}.`,
  types: (list) => `Types: ${list}.`,
  uploaded: 'Your file has been uploaded.',
  file: 'File',
  upload: 'Upload',
  gone: 'This link does not work',
  askForNew: 'It is wrong, has expired, or was revoked. Ask for a new one.',
  titles: {
    FORBIDDEN: 'Not allowed',
    TOO_MANY_REQUESTS: 'Too many attempts',
    INTERNAL_ERROR: 'Something went wrong',
    SERVICE_UNAVAILABLE: 'Try again shortly',
  },
  notAccepted: 'The file was not accepted',
  notPossible: 'This is not possible',
  rejections: {
    downloads: 'This link does not allow downloads.',
    downloadLimit: 'The download limit of this link is reached.',
    uploads: 'This link does not allow uploads.',
    uploadLimit: 'The upload limit of this link is reached.',
    type: 'Files of this type cannot be uploaded here.',
    size: 'The file is too large.',
    runningUploads: 'Too many uploads at the same time. Try again when one of them has ended.',
    attempts: 'Too many wrong passwords for this link. Try again within an hour.',
    tooMany: 'Too many requests. Try again shortly.',
    busy: 'The server is busy. Try again shortly.',
    archiveSize: 'The folder is too large for an archive. Download its files one by one.',
    archivesOfAddress: `At most ${archiveLimits.address} archives can be downloaded from one network address at the same time. Try again when one is complete.`,
    archivesOfShare: `At most ${archiveLimits.share} archives can be downloaded by this link at the same time. Try again in a minute.`,
    archivesOfOrg: `At most ${archiveLimits.visitors} archives can be downloaded by links of this organization at the same time. Try again in a minute.`,
    other: 'The server did not accept the request.',
  },
}

const german: Texts = {
  shared: 'Mit Atrium geteilt',
  passwordRequired: 'Passwort erforderlich',
  enterPassword: 'Geben Sie das Passwort ein, das Sie mit diesem Link erhalten haben.',
  wrongPassword: 'Das Passwort ist falsch.',
  password: 'Passwort',
  next: 'Weiter',
  download: 'Herunterladen',
  downloadAll: 'Alle herunterladen',
  downloadsReached: 'Die Anzahl der Downloads dieses Links ist erreicht.',
  noPreview: 'Diese Datei hat keine Vorschau.',
  content: 'Inhalt',
  allFiles: 'Alle Dateien',
  folder: 'Ordner',
  emptyFolder: 'Dieser Ordner ist leer.',
  previousPage: 'Vorherige Seite',
  nextPage: 'Nächste Seite',
  uploadFile: 'Datei hochladen',
  uploadTo: (org) => `Ihre Datei wird an ${org} gesendet.`,
  atMost: (size) => `Höchstens ${size}.`,
  types: (list) => `Typen: ${list}.`,
  uploaded: 'Ihre Datei wurde hochgeladen.',
  file: 'Datei',
  upload: 'Hochladen',
  gone: 'Dieser Link funktioniert nicht',
  askForNew: 'Er ist falsch, abgelaufen oder wurde widerrufen. Bitten Sie um einen neuen.',
  titles: {
    FORBIDDEN: 'Nicht erlaubt',
    TOO_MANY_REQUESTS: 'Zu viele Versuche',
    INTERNAL_ERROR: 'Etwas ist schiefgegangen',
    SERVICE_UNAVAILABLE: 'Versuchen Sie es gleich noch einmal',
  },
  notAccepted: 'Die Datei wurde nicht angenommen',
  notPossible: 'Das ist nicht möglich',
  rejections: {
    downloads: 'Dieser Link erlaubt keine Downloads.',
    downloadLimit: 'Die Anzahl der Downloads dieses Links ist erreicht.',
    uploads: 'Dieser Link erlaubt keine Uploads.',
    uploadLimit: 'Die Anzahl der Uploads dieses Links ist erreicht.',
    type: 'Dateien dieses Typs können hier nicht hochgeladen werden.',
    size: 'Die Datei ist zu groß.',
    runningUploads: 'Zu viele Uploads gleichzeitig. Versuchen Sie es erneut, wenn einer davon beendet ist.',
    attempts: 'Zu viele falsche Passwörter für diesen Link. Versuchen Sie es in spätestens einer Stunde erneut.',
    tooMany: 'Zu viele Versuche. Versuchen Sie es später erneut.',
    busy: 'Der Server ist ausgelastet. Versuchen Sie es gleich noch einmal.',
    archiveSize: 'Der Ordner ist zu groß für ein Archiv. Laden Sie seine Dateien einzeln herunter.',
    archivesOfAddress: `Von einer Netzwerkadresse können höchstens ${archiveLimits.address} Archive gleichzeitig heruntergeladen werden. Versuchen Sie es erneut, wenn eines davon fertig ist.`,
    archivesOfShare: `Über diesen Link können höchstens ${archiveLimits.share} Archive gleichzeitig heruntergeladen werden. Versuchen Sie es in einer Minute erneut.`,
    archivesOfOrg: `Über Links dieser Organisation können höchstens ${archiveLimits.visitors} Archive gleichzeitig heruntergeladen werden. Versuchen Sie es in einer Minute erneut.`,
    other: 'Der Server hat die Anfrage nicht angenommen.',
  },
}

export const texts: Record<Language, Texts> = { en: english, de: german }

/** `1.5 KB`, in German `1,5 KB`. */
export const sizeIn = (language: Language, bytes: number): string => {
  const size = formatBytes(bytes)
  return language === 'de' ? size.replace('.', ',').replace('byte', 'Byte') : size
}

const reasonOf: Partial<Record<ApiError['code'], Rejection['reason']>> = {
  TOO_MANY_REQUESTS: 'tooMany',
  SERVICE_UNAVAILABLE: 'busy',
}

/** The title and the text of the page of an error, which an upload may have. */
export const explanation = (
  language: Language,
  error: ApiError,
  isUpload: boolean,
): { title: string; text: string } => {
  const { gone, askForNew, titles, notAccepted, notPossible, rejections } = texts[language]
  if (error.code === 'NOT_FOUND') return { title: gone, text: askForNew }
  const reason = error.cause instanceof Rejection ? error.cause.reason : (reasonOf[error.code] ?? 'other')
  // The messages of the API are more precise than a general text, but English.
  const text = language === 'en' ? error.message : rejections[reason]
  // Neither a wrong form nor many attempts.
  const title = reason.startsWith('archive') ? undefined : titles[error.code]
  return { title: title ?? (isUpload ? notAccepted : notPossible), text }
}
