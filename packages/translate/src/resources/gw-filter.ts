import { filterBlock, object } from '@portico/gateway/schema'

/** GwFilter: policies for the rules of routes that refer to it by a filter of type `ExtensionRef`. */
export const gwFilterSpec = object({
  traffic: filterBlock().describe('Policies for the requests of the rules that refer to this filter.'),
}).describe('The policies of the filter.')
