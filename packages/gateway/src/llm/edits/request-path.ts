import type { RouteType } from './schema.ts'

/** What a request is, by the end of its path (without query): the longest end that fits, then `*`; null where neither is there. */
export function createRouteTypes(
  routes: Readonly<Record<string, RouteType>> = DEFAULT_ROUTES,
): (path: string) => RouteType | null {
  const ends = Object.entries(routes)
    .filter(([end]) => end !== '*')
    .sort(([a], [b]) => b.length - a.length)
  const otherwise = (Object.hasOwn(routes, '*') ? routes['*'] : undefined) ?? null
  return (path) => ends.find(([end]) => path.endsWith(end))?.[1] ?? otherwise
}

/** The model that a path of a vendor's own names, for clients that say it nowhere else; null when there is none. */
export function modelInPath(path: string): string | null {
  const model = PATHS.map((pattern) => pattern.exec(path)?.[1]).find((found) => found !== undefined)
  return model === undefined || UNFIT.test(model) ? null : model
}

/** Only what is counted and guarded, or harmless: to let anything else through takes a word of the operator. */
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
/** What a vendor would read otherwise. */
const UNFIT = /\.\.|%|[\0-\x1f\x7f]/
