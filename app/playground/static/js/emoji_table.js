/** The emoji this page knows by name; any other :name: is shown as it is written. */

const LINES = `
grinning 😀|smiley 😃|smile 😄|grin 😁|laughing 😆|sweat_smile 😅|joy 😂|rolling_on_the_floor_laughing 🤣
slightly_smiling_face 🙂|upside_down_face 🙃|wink 😉|blush 😊|innocent 😇|heart_eyes 😍|star-struck 🤩|kissing_heart 😘
yum 😋|stuck_out_tongue 😛|thinking_face 🤔|face_with_raised_eyebrow 🤨|neutral_face 😐|smirk 😏|unamused 😒
face_with_rolling_eyes 🙄|relieved 😌|pensive 😔|sleeping 😴|sunglasses 😎|nerd_face 🤓|confused 😕|worried 😟
open_mouth 😮|astonished 😲|flushed 😳|cry 😢|sob 😭|scream 😱|disappointed 😞|weary 😩|rage 😡|exploding_head 🤯
partying_face 🥳|hugging_face 🤗|shushing_face 🤫|saluting_face 🫡|skull 💀|ghost 👻|robot_face 🤖|clown_face 🤡
wave 👋|raised_hand ✋|ok_hand 👌|v ✌️|crossed_fingers 🤞|point_up ☝️|point_right 👉|point_left 👈|point_down 👇
+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|fist ✊|clap 👏|raised_hands 🙌|pray 🙏|handshake 🤝|muscle 💪|eyes 👀|brain 🧠
heart ❤️|orange_heart 🧡|yellow_heart 💛|green_heart 💚|blue_heart 💙|purple_heart 💜|broken_heart 💔|sparkling_heart 💖
white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|no_entry ⛔|no_entry_sign 🚫|warning ⚠️|question ❓
exclamation ❗|bangbang ‼️|100 💯|recycle ♻️|repeat 🔁|arrows_counterclockwise 🔄|arrow_right ➡️|arrow_left ⬅️
arrow_up ⬆️|arrow_down ⬇️|heavy_plus_sign ➕|heavy_minus_sign ➖|red_circle 🔴|large_orange_circle 🟠
large_yellow_circle 🟡|large_green_circle 🟢|large_blue_circle 🔵|white_circle ⚪|black_circle ⚫
tada 🎉|confetti_ball 🎊|sparkles ✨|star ⭐|star2 🌟|fire 🔥|boom 💥|zap ⚡|rocket 🚀|dart 🎯|trophy 🏆|gift 🎁|balloon 🎈
bulb 💡|memo 📝|pencil2 ✏️|books 📚|book 📖|bookmark 🔖|label 🏷️|pushpin 📌|paperclip 📎|link 🔗|mag 🔍|lock 🔒|unlock 🔓
key 🔑|hammer 🔨|wrench 🔧|hammer_and_wrench 🛠️|gear ⚙️|package 📦|computer 💻|keyboard ⌨️|floppy_disk 💾|bug 🐛
calendar 📆|date 📅|clock1 🕐|hourglass ⌛|hourglass_flowing_sand ⏳|stopwatch ⏱️|alarm_clock ⏰|bell 🔔|no_bell 🔕
mega 📣|loudspeaker 📢|speech_balloon 💬|thought_balloon 💭|email 📧|inbox_tray 📥|outbox_tray 📤|chart_with_upwards_trend 📈
chart_with_downwards_trend 📉|bar_chart 📊|moneybag 💰|coffee ☕|tea 🍵|pizza 🍕|cake 🍰|beer 🍺|taco 🌮|apple 🍎
sunny ☀️|cloud ☁️|umbrella ☔|snowflake ❄️|rainbow 🌈|earth_africa 🌍|house 🏠|office 🏢|construction 🚧|ship 🚢|car 🚗
cat 🐱|dog 🐶|unicorn_face 🦄|turtle 🐢|snail 🐌|bird 🐦|bee 🐝|seedling 🌱|evergreen_tree 🌲|four_leaf_clover 🍀|rose 🌹
stop_button ⏹️|arrow_forward ▶️|double_vertical_bar ⏸️|one 1️⃣|two 2️⃣|three 3️⃣|wastebasket 🗑️|shield 🛡️|crystal_ball 🔮
`;

/** @type {Map<string, string>} name → character, in the order of the table */
export const EMOJI = new Map(
  LINES.trim().split(/[|\n]/).map((entry) => /** @type {[string, string]} */ (entry.split(" "))),
);

/** What the reaction picker offers first. */
export const FREQUENT = ["+1", "eyes", "white_check_mark", "heart", "tada", "pray", "rocket", "joy", "thinking_face", "fire", "100", "x"];
