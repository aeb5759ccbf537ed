export function freshProgram(name: 'gateway' | 'ctl' | 'controller'): string | null
