/** A tool's name as most providers allow it: letters, digits, dashes and underscores. Ours have dots. */
export const wireName = (toolName: string): string => toolName.replaceAll(/[^A-Za-z0-9_-]/g, '_')
