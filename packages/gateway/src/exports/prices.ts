/** The prices of models, for the other programs of this project. */
export { type ConfiguredPrice, configuredPrices } from '../compile/prices/configured-prices.ts'
export { bundledRow } from '../prices/bundled-table.ts'
export type { PriceRow } from '../prices/price-row.ts'
