/** Ids of providers in the price table, by their names in telemetry. A provider that is missing here has no prices. */
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

/** The spellings of a model name: providers add a path before it, or a date after an `@`. */
export function spellings(model: string): string[] {
  const last = model.slice(model.lastIndexOf('/') + 1)
  return [...new Set([model, last, last.replace('@', '-')])].filter((name) => name !== '')
}
