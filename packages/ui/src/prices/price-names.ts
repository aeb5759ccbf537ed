/** How the table of prices calls those that telemetry names. Who is not here has no prices. */
const PROVIDER_IDS: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  azure: 'azure',
  'aws.bedrock': 'aws',
  'gcp.gemini': 'google',
  'gcp.vertex_ai': 'google',
}

export function providerId(telemetryName: string): string | null {
  return Object.hasOwn(PROVIDER_IDS, telemetryName) ? (PROVIDER_IDS[telemetryName] ?? null) : null
}

/** The ways in which providers write one model: with its place before it, or its day behind an `@`. */
export function spellings(model: string): string[] {
  const last = model.slice(model.lastIndexOf('/') + 1)
  return [...new Set([model, last, last.replace('@', '-')])].filter((name) => name !== '')
}
