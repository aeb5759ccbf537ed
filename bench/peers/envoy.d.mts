export const envoy: { find(): { command: string; version: string } | null }
