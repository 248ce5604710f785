import { Radio, Stack, VisuallyHidden } from '@mantine/core'
import { confirm, ErrorNote, notifyDone } from '../../parts'
import { Section } from './section'
import { type Blueprint, useUpdate } from '../../api/use-blueprint'
import { visibilitySectionText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** The visibility of a blueprint. A change asks for confirmation and is saved at once. */
export function VisibilitySection({ blueprint, allowed }: { blueprint: Blueprint; allowed: boolean }) {
  const update = useUpdate(blueprint.id)
  const choose = async (visibility: string) => {
    if (visibility === blueprint.visibility) return
    const agreed =
      visibility === 'private' ||
      (await confirm({
        title: visibilitySectionText.makeThisBlueprintPublic,
        text: visibilitySectionText.everyoneOnThisServerCanFind,
        action: visibilitySectionText.makePublic,
      }))
    if (agreed)
      update.mutate(
        { visibility },
        {
          onSuccess: () =>
            notifyDone(
              visibility === 'public'
                ? visibilitySectionText.theBlueprintIsNowPublic
                : visibilitySectionText.theBlueprintIsNowPrivate,
            ),
        },
      )
  }
  const text = allowed ? undefined : visibilitySectionText.onlyItsCreatorAdminsOfIts
  return (
    <Section title={visibilitySectionText.visibility} text={text}>
      <Radio.Group
        value={update.isPending ? update.variables.visibility : blueprint.visibility}
        onChange={(value) => void choose(value)}
        label={<VisuallyHidden>{visibilitySectionText.visibility}</VisuallyHidden>}
        labelProps={{ style: { position: 'absolute' } }} // the heading above shows it
      >
        <Stack gap="sm">
          <Radio
            value="private"
            disabled={!allowed}
            label={commonText.private}
            description={visibilitySectionText.membersOfItsOrganizationAnd}
          />
          <Radio
            value="public"
            disabled={!allowed}
            label={commonText.public}
            description={visibilitySectionText.everyoneOnThisServerCanAlso}
          />
        </Stack>
      </Radio.Group>
      <ErrorNote error={update.error} title={visibilitySectionText.couldNotChangeTheVisibility} />
    </Section>
  )
}
