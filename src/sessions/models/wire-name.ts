/** A tool's name for providers, which reject the dots in our names: only letters, digits, dashes and underscores. */
export const wireName = (toolName: string): string => toolName.replaceAll(/[^A-Za-z0-9_-]/g, '_')
