export function programAt(variable: string, name: string): string | null
