import type { RouteType } from './schema.ts'

/**
 * Finds the route type of a request by the suffix of its path (without query): the longest matching suffix, then `*`;
 * null when nothing matches.
 */
export function createRouteTypes(
  routes: Readonly<Record<string, RouteType>> = DEFAULT_ROUTES,
): (path: string) => RouteType | null {
  const ends = Object.entries(routes)
    .filter(([end]) => end !== '*')
    .sort(([a], [b]) => b.length - a.length)
  const otherwise = (Object.hasOwn(routes, '*') ? routes['*'] : undefined) ?? null
  return (path) => ends.find(([end]) => path.endsWith(end))?.[1] ?? otherwise
}

/**
 * The model named in a vendor-specific path, for clients that name the model nowhere else; null when the path has no
 * model.
 */
export function modelInPath(path: string): string | null {
  const model = PATHS.map((pattern) => pattern.exec(path)?.[1]).find((found) => found !== undefined)
  return model === undefined || UNFIT.test(model) ? null : model
}

/**
 * Only requests that are counted and guarded, or harmless. The operator must configure every other route explicitly.
 */
const DEFAULT_ROUTES: Readonly<Record<string, RouteType>> = {
  '/chat/completions': 'Completions',
  '/messages': 'Messages',
  '/messages/count_tokens': 'MessagesTokenCount',
  ':rawPredict': 'Messages',
  ':streamRawPredict': 'Messages',
  '/responses': 'Responses',
  '/embeddings': 'Embeddings',
  '/models': 'Models',
}

const PATHS = [
  /\/(?:models|tunedModels)\/([^/:]+):(?:stream)?(?:rawPredict|RawPredict|generateContent|GenerateContent|countTokens)$/,
  /\/model\/([^/]+)\/(?:converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$/,
  /\/openai\/deployments\/([^/]+)\//,
]
/** Sequences that a vendor could interpret as something other than a model name. */
const UNFIT = /\.\.|%|[\0-\x1f\x7f]/
