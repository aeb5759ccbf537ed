/** Which table of prices this is. The package does not say when its prices were read: this is the day it was published. */
export const PRICE_TABLE = { name: '@pydantic/genai-prices', version: '0.1.8', date: '2026-09-23' } as const
