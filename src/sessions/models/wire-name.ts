/** A tool's name for providers, which allow letters, digits, dashes and underscores only. Our names contain dots. */
export const wireName = (toolName: string): string => toolName.replaceAll(/[^A-Za-z0-9_-]/g, '_')
