export function keepResult(file: string, result: { heading: string; body: string }): void
