/** The vendors of LiteLLM that the gateway can call. */

export interface Vendor {
  /** The key of the provider in our config. */
  readonly provider: string
  /** `host:port` without `api_base`; null when the config must name the server. */
  readonly address: string | null
  /** The environment variable that LiteLLM reads when the config has no key; null when servers need no key. */
  readonly keyVariable: string | null
  /** How `api_base` is read: `prefix` is a URL with the path of the API, `root` one without it; null cannot be moved. */
  readonly base: 'prefix' | 'root' | null
  /** The difference to our provider; absent when there is none. */
  readonly difference?: string
}

const openAi = { base: 'prefix' } as const
const vendor = (provider: string, host: string, keyVariable: string): Vendor => ({
  ...openAi,
  ...{ provider, keyVariable, address: `${host}:443` },
})
const server = (provider: string, keyVariable: string | null): Vendor => ({
  ...openAi,
  ...{ provider, keyVariable, address: null },
})
const ollama: Vendor = {
  ...{ provider: 'ollama', address: null, keyVariable: null, base: 'root' },
  difference: "calls Ollama's OpenAI-compatible API instead of its own",
}
const cohere: Vendor = {
  ...vendor('cohere', 'api.cohere.ai', 'COHERE_API_KEY'),
  base: null,
  difference: "calls Cohere's OpenAI-compatible API instead of its own",
}
const like: Vendor = { ...openAi, provider: 'openai', address: null, keyVariable: null }

/** By the part of `litellm_params.model` before the first slash. */
const VENDORS: ReadonlyMap<string, Vendor> = new Map<string, Vendor>([
  ['openai', vendor('openai', 'api.openai.com', 'OPENAI_API_KEY')],
  ['anthropic', { ...vendor('anthropic', 'api.anthropic.com', 'ANTHROPIC_API_KEY'), base: 'root' }],
  ['gemini', { ...vendor('gemini', 'generativelanguage.googleapis.com', 'GEMINI_API_KEY'), base: null }],
  ['azure', { provider: 'azureopenai', address: null, keyVariable: 'AZURE_API_KEY', base: 'root' }],
  ['vertex_ai', { provider: 'vertexai', address: null, keyVariable: null, base: null }],
  [
    'bedrock',
    {
      ...{ provider: 'bedrock', address: null, keyVariable: null, base: null },
      difference: 'the gateway calls the Converse API of Bedrock for all models',
    },
  ],
  ['groq', vendor('groq', 'api.groq.com', 'GROQ_API_KEY')],
  ['mistral', vendor('mistral', 'api.mistral.ai', 'MISTRAL_API_KEY')],
  ['deepseek', vendor('deepseek', 'api.deepseek.com', 'DEEPSEEK_API_KEY')],
  ['openrouter', vendor('openrouter', 'openrouter.ai', 'OPENROUTER_API_KEY')],
  ['together_ai', vendor('together', 'api.together.xyz', 'TOGETHERAI_API_KEY')],
  ['fireworks_ai', vendor('fireworks', 'api.fireworks.ai', 'FIREWORKS_API_KEY')],
  ['xai', vendor('xai', 'api.x.ai', 'XAI_API_KEY')],
  ['perplexity', vendor('perplexity', 'api.perplexity.ai', 'PERPLEXITYAI_API_KEY')],
  ['cerebras', vendor('cerebras', 'api.cerebras.ai', 'CEREBRAS_API_KEY')],
  ['sambanova', vendor('sambanova', 'api.sambanova.ai', 'SAMBANOVA_API_KEY')],
  ['deepinfra', vendor('deepinfra', 'api.deepinfra.com', 'DEEPINFRA_API_KEY')],
  ['nvidia_nim', vendor('nvidia', 'integrate.api.nvidia.com', 'NVIDIA_NIM_API_KEY')],
  ['moonshot', vendor('moonshot', 'api.moonshot.ai', 'MOONSHOT_API_KEY')],
  ['zai', vendor('zai', 'api.z.ai', 'ZAI_API_KEY')],
  ['baseten', { ...vendor('baseten', 'inference.baseten.co', 'BASETEN_API_KEY'), base: null }],
  ['huggingface', { ...vendor('huggingface', 'router.huggingface.co', 'HF_TOKEN'), base: null }],
  ['cohere', cohere],
  ['cohere_chat', cohere],
  ['ollama', ollama],
  ['ollama_chat', ollama],
  ['lm_studio', server('lmstudio', null)],
  ['hosted_vllm', server('vllm', null)],
  ['openai_like', like],
  ['custom_openai', like],
  ['litellm_proxy', like],
])

interface VendorModel {
  readonly vendor: Vendor
  /** The name at the vendor, perhaps with `*`. */
  readonly model: string
}

/** Splits `vendor/model`; a text says why that is not possible. */
export function splitModel(text: string, customProvider: string | null): VendorModel | string {
  if (text === '*') return 'LiteLLM chooses the vendor for each request, which has no counterpart'
  const slash = text.indexOf('/')
  const prefix = slash < 0 ? '' : text.slice(0, slash)
  const name = customProvider ?? (slash < 0 ? vendorOfBareName(text) : prefix)
  if (name === null) return `the importer cannot tell the vendor of ${JSON.stringify(text)}; write vendor/model`
  const vendor = VENDORS.get(name)
  if (vendor === undefined) return `no provider for the vendor ${JSON.stringify(name)}`
  const rest = prefix === name ? text.slice(slash + 1) : text
  const model = vendor.provider === 'bedrock' ? rest.replace(/^(converse|invoke|converse_like)\//, '') : rest
  return model === '' ? 'the model has no name' : { vendor, model }
}

/** Only families whose vendor is beyond doubt. */
function vendorOfBareName(name: string): string | null {
  if (/^(gpt-[345]|gpt-image-|chatgpt-|o[134](-|$)|text-embedding-(3|ada)|dall-e-|tts-1)/.test(name)) return 'openai'
  return /^claude-/.test(name) ? 'anthropic' : null
}
