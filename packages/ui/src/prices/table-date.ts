/** The price table in use. `date` is the day the package was published: it does not say when its prices were read. */
export const PRICE_TABLE = { name: '@pydantic/genai-prices', version: '0.1.8', date: '2026-09-23' } as const
