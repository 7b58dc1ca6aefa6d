export const isConsoleFresh: (root: string) => boolean
export const buildConsole: (root: string, node: string) => Promise<boolean>
