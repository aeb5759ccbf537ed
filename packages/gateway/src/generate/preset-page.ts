import { presetNames, presets, type Preset } from '../llm/providers/presets.ts'

/** The page about the vendors and servers that imitate OpenAI, from their table. */
export function presetPage(mark: string): string {
  return `${mark}
# OpenAI-compatible providers

These vendors and servers accept requests in OpenAI's format. The key of the provider is enough:

\`\`\`yaml
binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - ai: { provider: { groq: { model: llama-3.3-70b-versatile } } }
        policies: { auth: { secretRef: { env: GROQ_API_KEY } } }
\`\`\`

The gateway sends the key as a bearer token. Without an \`auth\` policy the client's key is forwarded. \`model\` replaces the
model in the client's request; \`host\`, \`port\`, \`path\` and \`pathPrefix\` [work as for every
provider](../providers/README.md#fields-of-every-provider). Requests in formats that the provider does not accept are
[translated](../llm.md). For other servers, use [\`openai\` with \`host\`](../providers/openai-compatible.md).

## Vendors

| Provider | Vendor | Address | Usual variable of the key | Formats | Embeddings | List of models |
|---|---|---|---|---|---|---|
${rows(({ host }) => host !== null, vendorRow)}

## Your own servers

\`host\` is required; \`port\` has the usual value of the server. Connections use plain text unless \`port\` is 443 or a
\`tls\` policy applies: \`provider: { ollama: { model: llama3.2 }, host: 127.0.0.1 }\`.

| Provider | Server | Port | Path | Formats |
|---|---|---|---|---|
${rows(({ host }) => host === null, serverRow)}

## Differences

When the gateway translates a request to Chat Completions, it avoids the fields that a provider rejects:

| Provider | Difference |
|---|---|
${rows(({ quirks }) => quirks.length > 0, quirkRow)}
`
}

function rows(isListed: (preset: Preset) => boolean, row: (name: string, preset: Preset) => string): string {
  return presetNames
    .filter((name) => isListed(presets[name]))
    .map((name) => row(name, presets[name]))
    .join('\n')
}

function vendorRow(name: string, { title, host, path, keyVariable, formats, ...has }: Preset): string {
  const url = `https://${host}${path === '/' ? '' : path}`
  const extras = `${yes(has.hasEmbeddings)} | ${yes(has.hasModelList)}`
  return `| \`${name}\` | ${title} | \`${url}\` | \`${keyVariable}\` | ${printFormats(formats)} | ${extras} |`
}

function serverRow(name: string, { title, port, path, formats }: Preset): string {
  return `| \`${name}\` | ${title} | \`${port}\` | \`${path}\` | ${printFormats(formats)} |`
}

function quirkRow(name: string, { quirks }: Preset): string {
  return `| \`${name}\` | ${quirks.map((quirk) => DIFFERENCES[quirk] ?? quirk).join('; ')} |`
}

function printFormats(formats: Preset['formats']): string {
  return formats.map((format) => (format === 'responses' ? 'Responses' : 'Chat Completions')).join(', ')
}

function yes(has: boolean): string {
  return has ? 'yes' : 'no'
}

const DIFFERENCES: Readonly<Record<string, string>> = {
  cacheControl: 'accepts `cache_control`',
  noJsonSchema: 'does not accept a schema for the response, which becomes a part of the instructions',
  noReasoningHistory: 'rejects reasoning of earlier responses',
  noSeed: 'rejects `seed`',
  noStreamOptions: 'rejects `stream_options`',
  noUser: 'rejects `user`',
  reasoningContent: 'gets its reasoning back in `reasoning_content`',
  topK: 'accepts `top_k`',
}
