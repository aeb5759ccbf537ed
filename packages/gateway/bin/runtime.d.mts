export function isRecentEnough(version?: string): boolean
export function pinnedNode(): string | null
export function runPinned(script: string, args: readonly string[]): void
