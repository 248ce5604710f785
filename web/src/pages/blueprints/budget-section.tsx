import { NumberInput, Radio, SimpleGrid, Stack } from '@mantine/core'
import type { FormEvent } from 'react'
import { issueFor } from '../../api/errors'
import { ErrorNote, notifyDone } from '../../parts'
import { SaveButton } from './save-button'
import { Section } from './section'
import { type Blueprint, useUpdate } from '../../api/use-blueprint'
import { useDraft } from './use-draft'
import { budgetSectionText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Draft = { tokens: number | string; calls: number | string; onBreach: string }

/** The budget of one run for AI models and tools. */
export function BudgetSection({ blueprint }: { blueprint: Blueprint }) {
  const update = useUpdate(blueprint.id)
  const stored = blueprint.budget
  const [draft, set, changed] = useDraft<Draft>({
    tokens: stored?.tokens ?? '',
    calls: stored?.calls ?? '',
    onBreach: stored?.onBreach ?? 'fail',
  })
  const { tokens, calls, onBreach } = draft
  const none = tokens === '' && calls === ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!changed) return
    const budget = none ? {} : { ...(tokens === '' ? {} : { tokens }), ...(calls === '' ? {} : { calls }), onBreach }
    update.mutate(
      { budget },
      {
        onSuccess: () =>
          notifyDone(none ? budgetSectionText.budgetRemoved : budgetSectionText.savedTheBudgetAppliesToNew),
      },
    )
  }
  const at = (field: string) => (update.error ? issueFor(update.error, `budget.${field}`) : undefined)
  return (
    <Section title={budgetSectionText.runBudget} text={budgetSectionText.maximumSpendingOfOneRunOn}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <NumberInput
              label={commonText.tokens}
              description={budgetSectionText.sumOverAllAiCalls}
              placeholder={commonText.noLimit}
              value={tokens}
              onChange={(next) => set({ ...draft, tokens: next })}
              min={0}
              max={Number.MAX_SAFE_INTEGER}
              allowDecimal={false}
              allowNegative={false}
              thousandSeparator=","
              error={at('tokens')}
              hideControls
            />
            <NumberInput
              label={budgetSectionText.calls}
              description={budgetSectionText.callsToAiModels}
              placeholder={commonText.noLimit}
              value={calls}
              onChange={(next) => set({ ...draft, calls: next })}
              min={0}
              max={Number.MAX_SAFE_INTEGER}
              allowDecimal={false}
              allowNegative={false}
              thousandSeparator=","
              error={at('calls')}
              hideControls
            />
          </SimpleGrid>
          {!none && (
            <Radio.Group
              label={budgetSectionText.whenTheBudgetIsUsedUp}
              value={onBreach}
              onChange={(next) => set({ ...draft, onBreach: next })}
              error={at('onBreach')}
            >
              <Stack gap="xs" mt={6}>
                <Radio value="fail" label={budgetSectionText.failTheRun} />
                <Radio value="pause" label={budgetSectionText.pauseTheRunUntilAManager} />
              </Stack>
            </Radio.Group>
          )}
          <ErrorNote error={update.error} title={budgetSectionText.couldNotSaveTheBudget} />
          <SaveButton changed={changed} saving={update.isPending} />
        </Stack>
      </form>
    </Section>
  )
}
