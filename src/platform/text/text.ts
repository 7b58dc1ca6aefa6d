/** Text that PostgreSQL stores: without NUL, with a replacement character for half of a surrogate pair. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '')
