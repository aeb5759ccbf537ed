/** The model that a path of a vendor's own names, for clients that say it nowhere else; null when there is none. */
export function modelInPath(path: string): string | null {
  const model = PATHS.map((pattern) => pattern.exec(path)?.[1]).find((found) => found !== undefined)
  return model === undefined || UNFIT.test(model) ? null : model
}

const PATHS = [
  /\/(?:models|tunedModels)\/([^/:]+):(?:stream)?(?:rawPredict|RawPredict|generateContent|GenerateContent|countTokens)$/,
  /\/model\/([^/]+)\/(?:converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$/,
  /\/openai\/deployments\/([^/]+)\//,
]
/** What a vendor would read otherwise. */
const UNFIT = /\.\.|%|[\0-\x1f\x7f]/
